package onceproof.sink;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * Runs on executors. The bytes of one column, row after row, in arrays that are used again: of rows of a kilobyte an
 * array for each is as much garbage as Spark itself makes of them. A producer's send has copied them when it returns.
 */
final class Bytes {
    private static final int PLACES = 64; // lengths of one column's values lie close together
    private static final int LENGTH_MAX = 1 << 14; // beyond that an array of one's own costs little beside its content

    private final byte[][] used = new byte[PLACES][];
    private final boolean areKept; // by somebody who sees the records, too

    Bytes(boolean areKept) {
        this.areKept = areKept;
    }

    /** Of a column that is not null there. Until the next call, unless they are kept. */
    byte[] of(InternalRow row, int place, boolean isText) {
        if (areKept || !(row instanceof UnsafeRow)) {
            return isText ? row.getUTF8String(place).getBytes() : row.getBinary(place);
        }
        UnsafeRow unsafe = (UnsafeRow) row;
        long told = unsafe.getLong(place); // where it begins in the row, and how long it is
        byte[] bytes = ofLength((int) told);
        long from = unsafe.getBaseOffset() + (told >>> 32);
        Platform.copyMemory(unsafe.getBaseObject(), from, bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
        return bytes;
    }

    private byte[] ofLength(int length) {
        if (length > LENGTH_MAX) {
            return new byte[length];
        }
        int place = length % PLACES;
        if (used[place] == null || used[place].length != length) {
            used[place] = new byte[length];
        }
        return used[place];
    }
}
